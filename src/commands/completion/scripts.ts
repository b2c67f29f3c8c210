/** The supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/**
 * The completion script of each shell. It calls `trellis complete` with the words
 * of the command line, without evaluating them, and reads a line
 * `value<TAB>description` for each word that may follow; `:files` stands for paths.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  // macOS has bash 3.2, which lacks mapfile.
  bash: `# trellis completion for bash: source <(trellis completion bash)
_trellis() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(trellis complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
}
complete -F _trellis trellis
`,
  zsh: `#compdef trellis
# trellis completion for zsh: source <(trellis completion zsh)
_trellis() {
  local line files
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <(trellis complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe trellis found
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _trellis ]]; then _trellis "$@"; else compdef _trellis trellis; fi
`,
  fish: `# trellis completion for fish: trellis completion fish | source
function __trellis_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (trellis complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ':files'
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c trellis -f -a '(__trellis_complete)'
`,
};
