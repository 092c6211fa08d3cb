"""The features of the language server: what an editor asks, and what it gets."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lsprotocol import types

from relax_lint.server.hints import REPORT, code_lenses, inlay_hints
from relax_lint.server.ignoring import acceptable, file_actions, line_action
from relax_lint.server.language_server import CONFIGURATION, PAUSE_S, RelaxServer
from relax_lint.server.messages import FIX_ALL, DocumentResult, actions, hover
from relax_lint.server.settings import read_settings

_MOST_IGNORED = 20


def make_server() -> RelaxServer:
    """A server with all its features."""
    server = RelaxServer()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(server: RelaxServer, params: types.DidOpenTextDocumentParams) -> None:
        server.judge_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(server: RelaxServer, params: types.DidChangeTextDocumentParams) -> None:
        server.judge_soon(params.text_document.uri, PAUSE_S)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(server: RelaxServer, params: types.DidSaveTextDocumentParams) -> None:
        if server.decides(params.text_document.uri):
            server.judge_open_documents()
        else:
            server.judge_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(server: RelaxServer, params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(server: RelaxServer, params: types.DidChangeWatchedFilesParams) -> None:
        server.judge_open_documents()

    @server.feature(types.INITIALIZED)
    async def initialized(server: RelaxServer, params: types.InitializedParams) -> None:
        server.watch(CONFIGURATION)

    @server.feature(types.INITIALIZE)
    def initialize(server: RelaxServer, params: types.InitializeParams) -> None:
        server.settings = read_settings(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def reconfigured(server: RelaxServer, params: types.DidChangeConfigurationParams) -> None:
        server.settings = read_settings(params.settings, server.settings)
        server.judge_open_documents()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(server: RelaxServer, params: types.HoverParams) -> types.Hover | None:
        judged = server.judged(params.text_document.uri)
        return None if judged is None else hover(judged, params.position)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_action(
        server: RelaxServer, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command] | None:
        judged = server.judged(params.text_document.uri)
        if judged is None:
            return None
        fixes = actions(judged, params.range, versioned=server.versions_edits)
        return [*fixes, *await _ignores(server, judged, params)]

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(server: RelaxServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        judged = server.judged(params.text_document.uri)
        if judged is None or not server.settings.inlay_hints:
            return None
        return list(inlay_hints(judged, params.range))

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(server: RelaxServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        judged = server.judged(params.text_document.uri)
        if judged is None or not server.settings.code_lens:
            return None
        return list(code_lenses(judged))

    @server.command(REPORT)
    async def memory_report(server: RelaxServer, uri: str) -> str | None:
        page = await server.memory_report(uri)
        if page is not None and server.settings.show_report:
            await _show(server, page)
        return None if server.settings.show_report else page

    return server


async def _ignores(
    server: RelaxServer, judged: DocumentResult, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """The actions that accept the findings in a range by a comment."""
    only = params.context.only
    if only and types.CodeActionKind.QuickFix not in only and "" not in only:
        return []
    checks = acceptable(judged, params.range)[:_MOST_IGNORED]
    versioned = server.versions_edits
    found = [
        line_action(check, edits, judged, versioned=versioned)
        for check, edits in zip(checks, await server.comments(judged, checks), strict=True)
        if edits
    ]
    if not server.is_page(judged.uri):
        found += file_actions(checks, judged, versioned=versioned)
    return found


async def _show(server: RelaxServer, page: str) -> None:
    """Open a page in the browser of the editor's user, if the editor can."""
    handle, path = tempfile.mkstemp(prefix="relax-lint-memory-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    window = server.client_capabilities.window
    if window and window.show_document and window.show_document.support:
        uri = Path(path).as_uri()
        await server.window_show_document_async(types.ShowDocumentParams(uri, external=True))
    else:
        text = f"the memory report is {path}"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
