"""An audit of removals: a sample of them, the answers of people, and the server of its pages."""

from fastlsh.files.audit.answers import Answers, AuditPair
from fastlsh.files.audit.running import serving
from fastlsh.files.audit.sample import Audit, audit_files

__all__ = ["Answers", "Audit", "AuditPair", "audit_files", "serving"]
