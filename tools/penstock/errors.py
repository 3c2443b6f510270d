"""errors.py: the one exception whose message is for the person at the terminal."""


class UserError(Exception):
    """Something the user can mend; STATUS is the program's exit status."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
