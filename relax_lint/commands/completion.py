"""The command `completion`: a script for a shell, generated from the table of options."""

from __future__ import annotations

import argparse

from relax_lint.commands.terminal import UsageError, write
from relax_lint.output.formats import FORMATS
from relax_lint.settings.option import CHECK
from relax_lint.settings.options import OPTIONS

SHELLS = ("bash", "zsh")

_BASH = """\
_relax_lint() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command=@default names values=
    case "${COMP_WORDS[1]}" in
        @either) command="${COMP_WORDS[1]}" ;;
    esac
    case "$command $before" in
@values
    esac
    case "$command" in
@names
        completion) values="@shells" names="--help --color" ;;
        *) names="--help --color" ;;
    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [ "${word:0:1}" = - ]; then
        COMPREPLY=($(compgen -W "$names" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
        if [ "$COMP_CWORD" -eq 1 ]; then
            COMPREPLY+=($(compgen -W "@commands" -- "$word"))
        fi
    fi
}
complete -o filenames -F _relax_lint relax-lint
"""
# zsh reads the completions of bash with a module of its own.
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def completion_script(shell: str, commands: tuple[str, ...]) -> str:
    """The script for a shell: `commands` are the words that may come first. Raises UsageError for a shell
    that there is no script for.
    """
    if shell not in SHELLS:
        from relax_lint.settings.config import did_you_mean

        raise UsageError(f"no completion for `{shell}`{did_you_mean(shell, [*SHELLS])}")
    names, values = [], []
    for command, formats in FORMATS.items():
        options = [option for option in OPTIONS if command in option.commands]
        words = " ".join(["--help", *(f"--{option.name}" for option in options)])
        names.append(f'        {command}) names="{words}" ;;')
        for option in options:
            listed = formats if option.kind == "format" else (option.given or option.choices)
            if listed:
                values.append(f'        "{command} --{option.name}") values="{" ".join(listed)}" ;;')
    parts = {
        "@default": CHECK,
        "@either": "|".join(commands),
        "@commands": " ".join(commands),
        "@shells": " ".join(SHELLS),
        "@values": "\n".join(values),
        "@names": "\n".join(names),
    }
    script = _BASH
    for name, text in parts.items():
        script = script.replace(name, text)
    return script if shell == "bash" else _ZSH + script


def print_completion(options: argparse.Namespace, commands: tuple[str, ...]) -> int:
    """Print the script for the shell `options.shell`. Raises UsageError as `completion_script`."""
    return write(completion_script(options.shell, commands))
