/** Runs a document's console blocks and compares the terminal output. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CodeBlock } from './markdown.ts';
import { consoleSteps, outputMatches } from './markdown.ts';

const isExcused = ({ note }: CodeBlock): boolean => note?.startsWith('not run: ') ?? false;
const isShell = ({ language }: CodeBlock): boolean => ['console', 'sh', 'bash', 'shell'].includes(language);

/** Every block of commands shows a terminal that can be run, or says why it cannot. */
export function checkBlocks(blocks: readonly CodeBlock[]): void {
  for (const block of blocks.filter(isShell)) {
    assert.ok(
      block.language === 'console' || isExcused(block),
      `line ${block.line}: write a console block, or "not run: <why>" above it`,
    );
  }
}

export function hasCommands(blocks: readonly CodeBlock[]): boolean {
  return blocks.some((block) => block.language === 'console' && !isExcused(block));
}

/**
 * The environment of a person who has installed only the program. `dir` becomes the user's home.
 * @param program the installed main.js, or the argument vector that runs the program from source
 * @param others further programs on the PATH, as shell scripts by name
 */
export function userEnvironment(
  dir: string,
  program: string | readonly string[],
  others: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const bin = join(dir, '.bin');
  mkdirSync(bin, { recursive: true });
  const argv = typeof program === 'string' ? [process.execPath, program] : program;
  const hookwright = `exec ${argv.map((word) => `'${word}'`).join(' ')} "$@"`;
  for (const [name, script] of Object.entries({ hookwright, ...others })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: dir,
    HOOKWRIGHT_HOME: join(dir, 'home'),
    NO_COLOR: '1',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
}

/** Runs a command line and returns what a terminal shows. */
export type RunCommand = (command: string, cwd: string, env: NodeJS.ProcessEnv) => Promise<string>;

/** Writes the document's files and runs its commands in `dir`, in order: in a shell, or with `run`. */
export async function runBlocks(
  blocks: readonly CodeBlock[],
  dir: string,
  env: NodeJS.ProcessEnv,
  run: RunCommand = runInShell,
): Promise<void> {
  for (const block of blocks) {
    if (block.note?.startsWith('file: ')) writeBlock(block, join(dir, block.note.slice('file: '.length)));
    else if (block.language === 'console' && !isExcused(block)) await runBlock(block, (line) => run(line, dir, env));
  }
}

function writeBlock({ text }: CodeBlock, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

/** Commands that change nothing; they are repeated, as a reader does who is quicker than the machine. */
const LOOKS = /^hookwright (?:[a-z]+ )?(?:list|show|status)\b[^|&;]*$/;
/** The timeout, in ms; long, because a busy machine is not a failure. */
const PATIENCE_MS = 60_000;

async function runBlock(block: CodeBlock, run: (command: string) => Promise<string>): Promise<void> {
  for (const { command, output } of consoleSteps(block.text)) {
    const end = LOOKS.test(command) ? performance.now() + PATIENCE_MS : 0;
    let [printed, isRight] = ['', false];
    do {
      printed = await run(command);
      isRight = outputMatches(output, printed === '' ? [] : printed.replace(/\n$/, '').split('\n'));
      if (!isRight) await new Promise((resolve) => setTimeout(resolve, 100));
    } while (!isRight && performance.now() < end);
    assert.ok(isRight, `line ${block.line}: \`${command}\` printed\n${printed}\ninstead of\n${output.join('\n')}`);
  }
}

/** Standard error included. */
export async function runInShell(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const shell = spawn('bash', ['-c', `exec 2>&1\n${command}`], { cwd, env, stdio: [...stdio], timeout: 300_000 });
  let text = '';
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(shell, 'close');
  return text;
}
