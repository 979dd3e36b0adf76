/** Runs a story with the packed program and checks every step. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { filesBelow, readIfThere } from '../../helpers/files-below.ts';
import { until } from '../../helpers/gateway.ts';
import { outputMatches } from '../../helpers/markdown.ts';
import { hasPty, runOnTerminal } from '../../helpers/pty.ts';
import { splitShellWords } from '../../helpers/shell-words.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { Output } from './packed-program.ts';
import { programArgv, runHere, startProgram } from './packed-program.ts';
import type { Expected, Running, Step, Story } from './story.ts';

/** @param program path of the packed program @param withProcess the steps that start a process; the others run in this one */
export async function tellStory(
  t: TestContext,
  story: Story,
  program: string,
  withProcess: ReadonlySet<Step>,
): Promise<void> {
  if (story.steps.some(({ terminal }) => terminal !== undefined) && !hasPty()) return t.skip('no python3');
  const telling = new Telling(t, story, program, withProcess);
  for (const step of story.steps) await telling.take(step);
  telling.finish();
}

class Telling {
  private readonly dir: string;
  private readonly env: NodeJS.ProcessEnv;
  private readonly program: string;
  private readonly withProcess: ReadonlySet<Step>;
  private readonly kept = new Map<string, string>();
  /** Secrets by name; the secrets of the story's files have none. */
  private readonly secrets: Map<string, string>;
  private finished = false;
  private readonly children = new Set<ChildProcess>();

  constructor(t: TestContext, { files = {}, secrets = [] }: Story, program: string, withProcess: ReadonlySet<Step>) {
    // Stops the gateway before the folder is removed.
    t.after(() => this.end());
    this.dir = tempDir(t);
    const home = join(this.dir, 'home');
    this.env = {
      PATH: process.env.PATH,
      HOME: this.dir,
      HOOKWRIGHT_HOME: home,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'xterm',
    };
    this.program = program;
    this.withProcess = withProcess;
    this.secrets = new Map(secrets.map((secret, at) => [`of the story, ${at}`, secret]));
    this.write(files);
  }

  async take(step: Step): Promise<void> {
    this.write(step.write ?? {});
    if (step.terminal !== undefined) await this.takeOnTerminal(step);
    else if (step.eventually) await until(() => this.try(step));
    else this.check(step, await this.run(step));
    for (const [path, mode] of Object.entries(step.modes ?? {})) {
      assert.equal(this.modeOf(path), mode.toString(8), `\`${step.run}\`: mode of ${path}`);
    }
  }

  /** Files with a secret are private, and logs have none. */
  finish(): void {
    this.finished = true;
    for (const path of filesBelow(this.dir)) {
      // Opening the store would drop the locks of the process that has it open.
      if (/\.(db|lock)/.test(path)) continue;
      const text = readIfThere(join(this.dir, path))?.toString() ?? '';
      const held = [...this.secrets].filter(([, secret]) => text.includes(secret));
      if (held.length === 0) continue;
      assert.equal(this.modeOf(path), '600', `${path} holds a secret`);
      assert.ok(!path.includes('logs/'), `${path} holds the secret ${held[0]?.[0]}`);
    }
  }

  private write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.dir, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(this.dir, path), text, { mode: 0o600 });
    }
  }

  private modeOf(path: string): string {
    return (statSync(join(this.dir, path)).mode & 0o777).toString(8);
  }

  /** Whether the output of a repeated step matches now. */
  private async try(step: Step): Promise<boolean> {
    const output = await this.run(step);
    const seen = output.code === (step.code ?? 0) && matches(step.out ?? '', output.stdout);
    if (seen) this.check(step, output);
    return seen;
  }

  private async takeOnTerminal(step: Step): Promise<void> {
    const { code, screen } = await runOnTerminal(this.wordsOf(step), step.terminal ?? [], {
      home: join(this.dir, 'home'),
      cwd: this.dir,
      env: this.env,
      program: programArgv(this.program),
    });
    assert.equal(code, step.code ?? 0, `\`${step.run}\` on a terminal:\n${screen}`);
    expect(step, 'the terminal', step.out ?? '', screen);
    this.checkSecrets(step, screen);
  }

  private check(step: Step, { code, stdout, stderr }: Output): void {
    const said = `\`hookwright ${step.run}\` printed\n${stdout}\nand on stderr\n${stderr}`;
    assert.equal(code, step.code ?? 0, said);
    expect(step, 'stdout', step.out ?? '', stdout);
    expect(step, 'stderr', step.err ?? '', stderr);
    assert.doesNotMatch(stdout + stderr, /\u001b/, `escape sequences off a terminal: ${said}`);
    if (step.json) assert.doesNotThrow(() => JSON.parse(stdout), said);
    this.checkSecrets(step, stdout + stderr);
    for (const [name, pattern] of Object.entries(step.keep ?? {})) this.kept.set(name, find(pattern, stdout));
    for (const [name, pattern] of Object.entries(step.secret ?? {})) {
      const secret = find(pattern, stdout);
      this.kept.set(name, secret);
      this.secrets.set(name, secret);
    }
  }

  private checkSecrets({ run, reveals = [] }: Step, shown: string): void {
    for (const [name, secret] of this.secrets) {
      const what = `\`hookwright ${run}\` and the secret ${name}`;
      assert.equal(shown.includes(secret), reveals.includes(name), what);
    }
  }

  private wordsOf({ run }: Step): string[] {
    return (splitShellWords(run) ?? []).map((word) =>
      word.replace(/^\$([a-z]+)/, (_all, name: string) => {
        const value = this.kept.get(name);
        assert.ok(value !== undefined, `\`${run}\`: nothing was kept as ${name}`);
        return value;
      }),
    );
  }

  private run(step: Step): Promise<Output> {
    if (this.withProcess.has(step)) return this.runProcess(step);
    return runHere(this.program, this.wordsOf(step), { cwd: this.dir, env: this.env });
  }

  private runProcess(step: Step): Promise<Output> {
    const child = startProgram(this.program, this.wordsOf(step), { cwd: this.dir, env: this.env });
    this.children.add(child);
    let [stdout, stderr] = ['', ''];
    let then = step.when?.[1] ?? null;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const shown = step.when?.[0].exec(stdout + stderr);
        if (then === null || shown == null) return;
        const running: Running = { kill: (signal) => child.kill(signal), shown: shown[1] ?? '' };
        Promise.resolve(then(running)).catch(reject);
        then = null;
      };
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
        look();
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
        look();
      });
      child.once('error', reject);
      child.once('close', (code) => {
        this.children.delete(child);
        resolve({ code, stdout, stderr });
      });
      child.stdin.end(step.stdin ?? '');
    });
  }

  /** Stops a gateway that a failed story has left running. */
  private async end(): Promise<void> {
    if (this.finished) return;
    for (const child of this.children) child.kill('SIGKILL');
    await this.runProcess({ run: 'gateway stop --drain 0' });
  }
}

function matches(expected: Expected, text: string): boolean {
  if (typeof expected !== 'string') return expected.test(text);
  const lines = (whole: string): string[] => (whole === '' ? [] : whole.replace(/\n$/, '').split('\n'));
  return outputMatches(lines(expected), lines(text));
}

function expect({ run }: Step, where: string, expected: Expected, text: string): void {
  if (matches(expected, text)) return;
  assert.fail(`\`hookwright ${run}\` wrote to ${where}\n${text}\ninstead of\n${expected}`);
}

function find(pattern: RegExp, text: string): string {
  const found = pattern.exec(text)?.[1];
  assert.ok(found !== undefined, `nothing to keep of\n${text}`);
  return found;
}
