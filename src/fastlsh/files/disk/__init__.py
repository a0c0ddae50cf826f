"""The engine on disk: sign, link, gather, decide, write."""
