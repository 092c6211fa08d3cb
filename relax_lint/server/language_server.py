"""The language server itself: what the editor tells, and when a document is judged."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from relax_lint import __version__
from relax_lint.judging.selection import with_codes
from relax_lint.output.html import render_html
from relax_lint.results.check import Check, Edit
from relax_lint.results.report import FileResult, Report
from relax_lint.running.pool import Interrupted
from relax_lint.server.analyser import Analyser, Text
from relax_lint.server.documents import folder_of, is_excluded, text_of
from relax_lint.server.messages import SOURCE, DocumentResult, diagnostic
from relax_lint.server.positions import Ruler
from relax_lint.server.settings import EditorSettings
from relax_lint.settings.config import Config, load_config
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.sources.text import SourceText
from relax_lint.support.errors import UserError
from relax_lint.support.escaping import printable, without_addresses
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.suppressions.adding import Wanted

CONFIGURATION = "pyproject.toml"
_T = TypeVar("_T")

PAUSE_S = 0.3
"""So long after the last change a text is judged."""
_PATIENCE_S = 2.0
"""So long an older version of a text may still be judged when there is a newer one."""


@dataclass(frozen=True)
class _Request:
    """A document to be judged from the time `due` on, in seconds of the monotonic clock."""

    uri: str
    due: float


class RelaxServer(LanguageServer):
    """A language server whose judging never holds up the editor: one text at a time is judged in a worker
    process, the newest version of each document, and what became old meanwhile is dropped.
    """

    def __init__(self) -> None:
        super().__init__(SOURCE, __version__, types.TextDocumentSyncKind.Full)
        self._analyser = Analyser()
        # The worker lives as long as the thread that started it.
        self._thread = ThreadPoolExecutor(1, "analysis")
        self._waiting: dict[str, _Request] = {}
        self._news = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._judged: dict[str, DocumentResult] = {}
        self._complaints: set[str] = set()
        self._baselines: set[str] = set()
        self._watched: set[str] = set()
        self.settings = EditorSettings()

    def shutdown(self) -> None:
        """End the worker process and the server."""
        self._analyser.interrupt()
        self._thread.submit(self._analyser.close)
        self._thread.shutdown()
        super().shutdown()  # type: ignore[no-untyped-call]

    def judge_soon(self, uri: str, pause_s: float = 0.0) -> None:
        """Have a document judged, `pause_s` seconds from now unless it is asked for again before."""
        if self._loop is None:
            self._loop = asyncio.create_task(self._judge_all())
        self._waiting[uri] = _Request(uri, time.monotonic() + pause_s)
        self._news.set()

    def judge_open_documents(self) -> None:
        """Have every open document judged again."""
        for uri in list(self.workspace.text_documents):
            self.judge_soon(uri)

    def decides(self, uri: str) -> bool:
        """Whether a file is a configuration or a baseline: what it says concerns other documents."""
        path = to_fs_path(uri) or ""
        return os.path.basename(path) == CONFIGURATION or os.path.realpath(path) in self._baselines

    def watch(self, name: str) -> None:
        """Have the editor tell of changes of the files of this name, if it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if name in self._watched or not (watching and watching.dynamic_registration):
            return
        self._watched.add(name)
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(f"**/{name}")])
        registration = types.Registration(name, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        self.client_register_capability(types.RegistrationParams([registration]))

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._waiting.pop(uri, None)
        if self._judged.pop(uri, None) is not None:
            self._publish(uri, None, [])

    def judged(self, uri: str) -> DocumentResult | None:
        """What is known of the present version of a document."""
        judged = self._judged.get(uri)
        document = self.workspace.text_documents.get(uri)
        if judged is None or document is None or judged.version != document.version:
            return None
        return judged

    @property
    def versions_edits(self) -> bool:
        """Whether the editor refuses edits of an older version."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace else None
        return bool(edits and edits.document_changes)

    def is_page(self, uri: str) -> bool:
        """Whether a document is Markdown, with programs in it."""
        text, _ = self._task_of(uri)
        return text is not None and text.kind == "markdown"

    async def comments(self, judged: DocumentResult, checks: Sequence[Check]) -> list[tuple[Edit, ...]]:
        """The edits that accept each of some findings by a comment of its own."""
        text, config = self._task_of(judged.uri)
        wanted = [Wanted(check.rule, check.location) for check in checks if check.location is not None]
        if text is None or not wanted:
            return [() for _ in checks]
        return await self._in_worker(self._analyser.comments, text, wanted, config)

    async def memory_report(self, uri: str) -> str | None:
        """The memory report of a document as a page; None for what is not judged."""
        text, config = self._task_of(uri)
        if text is None:
            return None
        request = MemoryRequest(timelines=True, details=True)
        asked = replace(config, memory=request, lower=False)
        result = await self._in_worker(self._analyser.judge, text, asked)
        return render_html(Report((result,), None), asked)

    def _task_of(self, uri: str) -> tuple[Text | None, Config]:
        document = self.workspace.text_documents.get(uri)
        text = None if document is None else text_of(document)
        if text is None:
            return None, Config()
        return text, with_codes(load_config(folder=folder_of(text.path, self._roots())))

    async def _in_worker(self, work: Callable[..., _T], *arguments: object) -> _T:
        """What some work of the analyser gives, in the thread that it belongs to."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    async def _judge_all(self) -> None:
        while True:
            request = await self._next()
            document = self.workspace.text_documents.get(request.uri)
            if document is None:
                continue
            try:
                await self._judge(document)
            except UserError as error:
                self._complain(str(error))
            except Exception as error:
                self._complain(f"internal error: {type(error).__name__}: {error}")

    async def _next(self) -> _Request:
        """The next document that is due."""
        while True:
            request = min(self._waiting.values(), key=lambda one: one.due, default=None)
            pause = None if request is None else request.due - time.monotonic()
            if request is not None and pause is not None and pause <= 0:
                return self._waiting.pop(request.uri)
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), pause)
            except asyncio.TimeoutError:
                continue

    async def _judge(self, document: TextDocument) -> None:
        text = text_of(document)
        if text is None:
            return
        uri, version, content = document.uri, document.version, document.source
        folder = folder_of(text.path, self._roots())
        config = with_codes(load_config(folder=folder))
        if config.baseline is not None:
            self._baselines.add(os.path.realpath(config.baseline))
            self.watch(os.path.basename(config.baseline))
        result: FileResult | None = None
        if not is_excluded(text.path, folder, config):
            if self.settings.inlay_hints:
                config = replace(config, memory=replace(config.memory, timelines=True))
            result = await self._result(uri, text, config)
            if result is None:
                return
        present = self.workspace.text_documents.get(uri)
        if present is None or present.version != version:
            return
        ruler = Ruler(SourceText(text.path, content).lines, self._encoding())
        checks, memory = ((), ()) if result is None else (result.checks, result.memory)
        judged = DocumentResult(uri, version, ruler, checks, memory)
        self._judged[uri] = judged
        self._publish(uri, version, [diagnostic(check, judged) for check in judged.findings])
        self._refresh()

    def _refresh(self) -> None:
        """Have the editor ask again for what stands between the lines."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        if self.settings.code_lens and workspace.code_lens and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if self.settings.inlay_hints and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    async def _result(self, uri: str, text: Text, config: Config) -> FileResult | None:
        """What is found in a text; None if it took long and there was a newer version."""
        running = asyncio.get_running_loop().run_in_executor(self._thread, self._analyser.judge, text, config)
        start = time.monotonic()
        while not running.done():
            await asyncio.wait([running], timeout=PAUSE_S)
            newer = uri in self._waiting or uri not in self.workspace.text_documents
            if newer and not running.done() and time.monotonic() - start > _PATIENCE_S:
                self._analyser.interrupt()
        try:
            return running.result()
        except Interrupted:
            return None

    def _publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def _complain(self, message: str) -> None:
        """Show an error; the same one once only, not after every change of a text."""
        if message not in self._complaints:
            self._complaints.add(message)
            text = f"{SOURCE}: {printable(without_addresses(message))}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))

    def _roots(self) -> list[str]:
        uris = [folder.uri for folder in self.workspace.folders.values()]
        paths = [self.workspace.root_path, *map(to_fs_path, uris)]
        return [path for path in paths if path]

    def _encoding(self) -> str:
        agreed = self.server_capabilities.position_encoding
        return "utf-16" if agreed is None else str(getattr(agreed, "value", agreed))
