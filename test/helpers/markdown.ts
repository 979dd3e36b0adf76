/** Reads the code blocks of a Markdown document, for tests that run what documents show. */

export interface CodeBlock {
  /** 1-based line of the opening fence. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The HTML comment on the line before the block: `file: <name>` writes it, `not run: <why>` excuses it. */
  readonly note: string | null;
}

export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = markdown.split('\n');
  let note: string | null = null;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const fence = /^(\s*)(`{3,})(\S*)/.exec(line);
    if (fence !== null) {
      const [, indent = '', ticks = '', language = ''] = fence;
      const end = lines.findIndex((other, at) => at > index && other === `${indent}${ticks}`);
      if (end < 0) throw new Error(`line ${index + 1}: the code block never ends`);
      const text = lines.slice(index + 1, end).map((inner) => inner.slice(indent.length));
      blocks.push({ line: index + 1, language, text: text.map((inner) => `${inner}\n`).join(''), note });
      index = end;
      note = null;
    } else if (line.trim() !== '') {
      note = /^\s*<!--\s*(.*?)\s*-->\s*$/.exec(line)?.[1] ?? null;
    }
  }
  return blocks;
}

export interface ConsoleStep {
  readonly command: string;
  /** Lines expected on the terminal, standard error included; `…` stands for anything within a line, alone for any lines. */
  readonly output: readonly string[];
}

/** The steps of a `console` block: `$ command`, continued by a trailing backslash, then its output. */
export function consoleSteps(text: string): ConsoleStep[] {
  const steps: { command: string; output: string[] }[] = [];
  let continued = false;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const last = steps.at(-1);
    if (continued && last !== undefined) last.command += `\n${line}`;
    else if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: [] });
    else if (last === undefined) throw new Error('a console block starts with `$ command`');
    else last.output.push(line);
    continued = (continued || line.startsWith('$ ')) && line.endsWith('\\');
  }
  return steps;
}

function lineMatches(expected: string, actual: string): boolean {
  const parts = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(actual);
}

/** Whether the terminal showed what the document shows. */
export function outputMatches(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first.trim() === '…') {
    return actual.some((_, skip) => outputMatches(rest, actual.slice(skip))) || outputMatches(rest, []);
  }
  return actual[0] !== undefined && lineMatches(first, actual[0]) && outputMatches(rest, actual.slice(1));
}
