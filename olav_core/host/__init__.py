"""The plug-in host: finding plug-ins, checking them, and the registry of what they brought."""
