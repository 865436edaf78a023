"""The sections of ./dev bench, each a module with NAME, HELP, NEEDS (what cases are measured for it; None without cases) and rows(context)."""
