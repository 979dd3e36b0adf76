/** The shells' halves of completion: each asks the program itself, so a script never goes stale. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion of hookwright
_hookwright() {
  local IFS=$'\\n' line current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    case "$line" in
      :files) compopt -o default; return ;;
      # bash puts back only what follows the last "=".
      --*=*) [[ "$current" == --*=* ]] || line="\${line#*=}" ;;
    esac
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <(hookwright complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hookwright hookwright
`;

const ZSH = `#compdef hookwright
# zsh completion of hookwright
_hookwright() {
  local line value
  local -a found
  for line in "\${(@f)$(hookwright complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ "$line" == ':files' ]] && { _files; return }
    [[ -z "$line" ]] && continue
    value="\${line%%$'\\t'*}"
    found+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe hookwright found
}
compdef _hookwright hookwright
`;

const FISH = `# fish completion of hookwright
function __hookwright_complete
    set -l found (hookwright complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = ':files'
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c hookwright -f -a '(__hookwright_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
