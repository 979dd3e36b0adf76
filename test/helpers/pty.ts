/** Runs the program on a separate terminal and types at it, as a person would. Needs python3 for the terminal. */
import { spawn, spawnSync } from 'node:child_process';
import type { CliOptions } from './cli.ts';
import { selfArgv } from './cli.ts';

/** Waits until the text appears (after the text seen before), then types. */
export type Exchange = readonly [waitFor: string, type: string];

export interface PtyResult {
  readonly code: number;
  /** Everything written to the terminal, without escape sequences. */
  readonly screen: string;
  /** The same with escape sequences. */
  readonly raw: string;
}

export interface TerminalOptions extends Omit<CliOptions, 'context' | 'stdin'> {
  /** Words that start the program; default: those of the sources. */
  readonly program?: readonly string[];
}

export const hasPty = (): boolean => spawnSync('python3', ['-c', 'import pty']).status === 0;

const DRIVER = `
import fcntl, json, os, pty, select, struct, sys, termios, time
argv, exchanges = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 120, 0, 0))
seen, start, end = b'', 0, time.time() + 300
def read():
    global seen
    if not select.select([fd], [], [], 0.1)[0]:
        return True
    try:
        data = os.read(fd, 65536)
    except OSError:
        return False
    seen += data
    return data != b''
alive = True
for wanted, typed in exchanges:
    while alive and seen.find(wanted.encode(), start) < 0 and time.time() < end:
        alive = read()
    at = seen.find(wanted.encode(), start)
    if at < 0:
        break
    start = at + len(wanted.encode())
    time.sleep(0.05)
    os.write(fd, typed.encode())
while alive and time.time() < end:
    alive = read()
if time.time() >= end:
    os.kill(pid, 9)
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(json.dumps({'code': os.waitstatus_to_exitcode(status), 'screen': seen.decode('utf8', 'replace')}).encode())
`;

export async function runOnTerminal(
  argv: readonly string[],
  exchanges: readonly Exchange[],
  options: TerminalOptions,
): Promise<PtyResult> {
  const words = [...(options.program ?? selfArgv()), ...argv];
  const child = spawn('python3', ['-c', DRIVER, JSON.stringify(words), JSON.stringify(exchanges)], {
    cwd: options.cwd ?? options.home,
    env: { PATH: process.env.PATH, HOME: options.home, HOOKWRIGHT_HOME: options.home, TERM: 'xterm', ...options.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  const { code, screen: raw } = JSON.parse(text) as { code: number; screen: string };
  return { code, raw, screen: raw.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '') };
}
