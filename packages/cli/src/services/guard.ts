import { spawn } from "node:child_process";

/**
 * Reads its standard input, which ends when the process that holds the other end dies, however it dies. The
 * word `done` before that means that nothing is left to do.
 */
const script = `
read -r word && [ "$word" = done ] && exit 0
signal=$1 pid=$2
kill -s "$signal" "$pid" 2>/dev/null
shift 2
[ $# -eq 0 ] && exit 0
tries=0
while kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -s KILL "$pid" 2>/dev/null
rm -rf -- "$@"
`;

/**
 * Watches over a process that must not outlive this one: when this process ends in any way, kill -9 included,
 * `pid` gets `signal`, and after it has gone (10 s at most, then SIGKILL) the directories are removed.
 * Without directories nothing follows the signal, so that a slow shutdown of a database is never cut short.
 *
 * The returned function dismisses the guard; call it once `pid` has ended, before its number is given away.
 */
export function guardProcess(watched: {
  readonly pid: number;
  readonly signal: "INT" | "TERM" | "QUIT" | "KILL";
  readonly removeDirectories?: readonly string[];
}): () => void {
  const args = [watched.signal, String(watched.pid), ...(watched.removeDirectories ?? [])];
  const guard = spawn("/bin/sh", ["-c", script, "millrace-guard", ...args], {
    // A session of its own: what the terminal sends to the foreground group must not reach it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
  });
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  guard.unref();
  return () => guard.stdin.end("done\n");
}
