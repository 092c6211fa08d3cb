"""An editor: a language client and the server, a process of its own, that it talks to over a pipe."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from asyncio import unix_events
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.forking import FORKING

PATIENCE_S = 60.0


class Editor:
    """A client in a thread of its own, so that tests can wait for the server like anybody else."""

    def __init__(self, folder: Path, settings: dict[str, Any] | None = None, **capabilities: Any) -> None:
        self.folder = folder
        self._settings = settings
        self.shown: list[types.ShowDocumentParams] = []
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.watched: list[str] = []
        self._versions: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.capabilities = self._run(self._start(capabilities)).capabilities

    def close(self) -> int | None:
        """End the session as the protocol wants it; the exit code of the server."""
        code: int | None = self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        return code

    @property
    def pid(self) -> int:
        """The process of the server."""
        server = self._client._server
        assert server is not None
        return server.pid

    def uri(self, name: str) -> str:
        """The URI of a file in the folder."""
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "python", uri: str | None = None) -> str:
        """Open a document; its URI."""
        uri = uri or self.uri(name)
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self._notify(self._client.text_document_did_open, types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> int:
        """Replace the text of a document; its new version."""
        version = self._versions[uri] = self._versions[uri] + 1
        document = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        params = types.DidChangeTextDocumentParams(document, [change])
        self._notify(self._client.text_document_did_change, params)
        return version

    def save(self, uri: str) -> None:
        """Tell that a document was saved."""
        params = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._notify(self._client.text_document_did_save, params)

    def changed(self, uri: str) -> None:
        """Tell that a watched file has changed on the disk."""
        event = types.FileEvent(uri, types.FileChangeType.Changed)
        params = types.DidChangeWatchedFilesParams([event])
        self._notify(self._client.workspace_did_change_watched_files, params)

    def shut(self, uri: str) -> None:
        """Close a document."""
        params = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._notify(self._client.text_document_did_close, params)

    def diagnostics(self, uri: str, version: int | None = 1, after: int = 0) -> list[types.Diagnostic]:
        """What was published for a version of a document, not counting the first `after` publications."""

        def there() -> types.PublishDiagnosticsParams | None:
            found = [p for p in self.published[after:] if (p.uri, p.version) == (uri, version)]
            return found[-1] if found else None

        return list(self.wait_for(there).diagnostics)

    def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        """What is shown at a position."""
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        hover: types.Hover | None = self._run(self._client.text_document_hover_async(params))
        return hover

    def actions(self, uri: str, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        """What is offered for a diagnostic."""
        context = types.CodeActionContext([diagnostic])
        document = types.TextDocumentIdentifier(uri)
        params = types.CodeActionParams(document, diagnostic.range, context)
        found = self._run(self._client.text_document_code_action_async(params)) or []
        return [action for action in found if isinstance(action, types.CodeAction)]

    def hints(self, uri: str) -> list[tuple[int, str]]:
        """The line and the text of each inlay hint of a document."""
        everything = types.Range(types.Position(0, 0), types.Position(10_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        found = self._run(self._client.text_document_inlay_hint_async(params)) or []
        return [(hint.position.line, hint.label) for hint in found]

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """What stands above the functions of a document."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        return list(self._run(self._client.text_document_code_lens_async(params)) or [])

    def execute(self, command: types.Command) -> Any:
        """The answer to a command of the server."""
        params = types.ExecuteCommandParams(command.command, command.arguments)
        return self._run(self._client.workspace_execute_command_async(params))

    def configure(self, settings: dict[str, Any]) -> None:
        """Tell that the settings have changed."""
        params = types.DidChangeConfigurationParams(settings)
        self._notify(self._client.workspace_did_change_configuration, params)

    @staticmethod
    def wait_for(condition: Callable[[], Any]) -> Any:
        """The first true value of a condition."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if value := condition():
                return value
            time.sleep(0.02)
        raise AssertionError("waited in vain")

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    def _notify(self, method: Callable[[Any], None], params: Any) -> None:
        self._loop.call_soon_threadsafe(method, params)

    async def _start(self, capabilities: dict[str, Any]) -> types.InitializeResult:
        self._client = client = LanguageClient("editor", "1")

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params)
            return types.ShowDocumentResult(True)

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            for one in params.registrations:
                options: Any = one.register_options
                self.watched += [watcher["globPattern"] for watcher in options["watchers"]]

        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with patch.object(unix_events, "subprocess", FORKING):
            await client.start_io(
                sys.executable, "-m", "relax_lint.cli", "server", cwd=self.folder, env=environment
            )
        root = types.WorkspaceFolder(self.folder.as_uri(), "work")
        params = types.InitializeParams(
            types.ClientCapabilities(**capabilities),
            workspace_folders=[root],
            root_uri=root.uri,
            initialization_options=self._settings,
        )
        result = await client.initialize_async(params)
        client.initialized(types.InitializedParams())
        return result

    async def _stop(self) -> int | None:
        await self._client.shutdown_async(None)
        self._client.exit(None)
        await self._client.stop()
        server = self._client._server
        return None if server is None else server.returncode
