# Performs one body after the other in this shell, each on streams of its own:
#
#     bash --noprofile --norc bash-session.bash
#
# Reads requests from standard input, `ID FOLDER DIRECTORY`, and replies on standard output, `ID opened` and
# `ID exited STATUS`. FOLDER holds the body, its environment (`NAME=VALUE`, each ended by NUL) and three named pipes.
#
# What a body leaves in the shell is there for the next: that is what a persistent shell is kept for. Redirections of
# `eval` last as long as the body, and bash keeps the descriptors that they hide out of the reach of every child; a body
# that itself writes to 10 and above, where bash keeps them, can still break the session.

exec 3<&0 4>&1 </dev/null >/dev/null
while IFS=' ' builtin read -r -u 3 __id __folder __directory; do
    builtin cd -- "$__directory" || exit
    while IFS= builtin read -r -d '' __body; do builtin export -- "$__body"; done <"$__folder/environment"
    IFS= builtin read -r -d '' __body <"$__folder/body" || :   # it has no NUL, so there is always an end of file
    exec 5<"$__folder/stdin" 6>"$__folder/stdout" 7>"$__folder/stderr" || exit
    builtin printf '%s opened\n' "$__id" >&4 || exit
    builtin eval "$__body" <&5 >&6 2>&7 3<&- 4>&- 5<&- 6>&- 7>&-
    __status=$?
    # Functions of a body must not take the place of what this loop calls. In POSIX mode none comes before `unset`.
    POSIXLY_CORRECT=y
    unset -f builtin exec exit :
    unset -v POSIXLY_CORRECT
    exec 5<&- 6>&- 7>&-
    builtin disown -a   # or bash tells the next body when a job is killed, and lets it wait for it
    # Who cannot be told of the status any more sees how this shell ended.
    builtin printf '%s exited %s\n' "$__id" "$__status" 2>/dev/null >&4 || exit "$__status"
done
