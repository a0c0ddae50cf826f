"""The text of a record whose text is in several columns or messages, as the documentation says."""


def text_of(record, columns, join_with="\n", roles=None):
    """Return the text, or None if a message has no role."""
    found = []
    for column in columns:
        value = record[column]
        if isinstance(value, list):
            value = _chat(value, join_with, roles)
            if value is None:
                return None
        if value:
            found.append(value)
    return join_with.join(found)


def _chat(messages, join_with, roles):
    texts = []
    for message in messages:
        if message is None:
            return None
        role, text = message.get("role"), message.get("content")
        if role is None:
            role, text = message.get("from"), message.get("value")
        if role is None:
            return None
        if roles is not None and role not in roles:
            continue
        if isinstance(text, list):
            if any(part is None or part["type"] is None for part in text):
                return None
            text = join_with.join([p["text"] for p in text if p["type"] == "text" and p["text"]])
        if text:
            texts.append(text)
    return join_with.join(texts)
