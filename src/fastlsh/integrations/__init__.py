"""fastlsh where the data already are: each module imports its library where it is used."""
