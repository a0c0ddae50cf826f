"""fastlsh beside other libraries."""
