# Completion of leat's command lines in bash: leat says itself what may stand there (tools/forms.h).
_leat() {
  local word=${COMP_WORDS[COMP_CWORD]} line
  [ "$word" != = ] || word=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == $'\t'* ]]; then # the files of a pattern, and the folders on the way to them
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do
        COMPREPLY+=("$line")
      done < <({ compgen -f -X "!${line#?}" -- "$word"; compgen -d -- "$word"; } | sort -u)
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _leat leat
