"""The protocol of pygls, which leaves some requests without an answer: here each gets one, as JSON-RPC asks."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol


class Protocol(LanguageServerProtocol):
    """Requests with parameters that are not those of their method, and requests after `shutdown`, are answered by an
    error: an editor would wait for them for ever."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return an object of JSON as a message; None for a request that is not valid, which is answered here."""
        if "method" in data:
            data.setdefault("params", None)  # pygls wants them of methods that it does not know
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            self._send_response(data["id"], error=error.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is None:
            return  # `structure_message` answered it
        number = getattr(message, "id", None)
        if self._shutdown and number is not None and hasattr(message, "method"):
            self._send_response(number, error=JsonRpcInvalidRequest("the server is shutting down").to_response_error())
        else:
            super().handle_message(message)
