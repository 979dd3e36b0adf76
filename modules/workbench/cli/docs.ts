/** `hookwright docs` and `hookwright rule`: print the documentation of this version, offline. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { packageRoot } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, optionalArgument } from '../../../cli/command-line/command.ts';
import { printBeside, printJson, printLine } from '../../../cli/output/print.ts';
import { suggest } from '../../../compiler/text/suggest.ts';

const options = { json: flag('Print JSON') };

type Input = ValuesOf<typeof options>;

/** `hookwright docs`: lists the pages, or prints one. */
export const docsCommand = command({
  options,
  args: { name: optionalArgument('page') },
  async run(context, given) {
    if (given.name !== undefined) show(context, given, given.name.replace(/^docs\//, '').replace(/\.md$/, ''));
    else if (given.json) listAsJson(context);
    else list(context);
  },
});

function list(context: CliContext): void {
  const paint = createPaint(context.colour.stdout);
  const width = Math.max(...pageNames().map((name) => name.length));
  for (const { title, entries } of readSections()) {
    printLine(context, paint('bold', title));
    for (const { name, about } of entries) printBeside(context, `  ${name.padEnd(width)}  `, about);
    printLine(context);
  }
  printLine(context, 'Print a page: hookwright docs <page>');
}

function listAsJson(context: CliContext): void {
  const pages = readSections().flatMap(({ title: section, entries }) =>
    entries.map(({ name, about }) => ({ name, title: readPage(name)?.title ?? name, about, section })),
  );
  printJson(context, pages);
}

function show(context: CliContext, given: Input, name: string): void {
  const page = readPage(name);
  if (page === null) {
    const near = suggest(name, pageNames()).slice(0, 1);
    const meant = near.length > 0 ? near : pagesAbout(name);
    const next = meant.map((page) => `did you mean: hookwright docs ${page}`);
    throw new CliError(`there is no page "${name}"`, ...(next.length === 0 ? ['list pages: hookwright docs'] : next));
  }
  if (given.json) printJson(context, page);
  else context.stdout.write(page.text);
}

/** `hookwright rule`: prints what a rule of the compiler checks, with a bad and a good example, from the shipped pages. */
export const ruleCommand = command({
  options: { json: flag('Print JSON') },
  args: { name: optionalArgument('rule') },
  async run(context, given) {
    const names = [...readRules().keys()].map((name) => ({ name }));
    if (given.name !== undefined) showRule(context, given.name, given.json);
    else if (given.json) printJson(context, names);
    else for (const { name } of names) printLine(context, name);
  },
});

const FOLDER = join(packageRoot(), 'docs');

/** Returns the sections of the index (`Tutorial`, `Reference`, …) and their pages, each with a one-line summary. */
export function readSections() {
  const [, ...sections] = readFileSync(join(FOLDER, 'README.md'), 'utf8').split(/^## /m);
  return sections.map((section) => ({
    title: /^.*/.exec(section)?.[0] ?? '',
    entries: [...section.matchAll(/\]\(([a-z-]+)\.md\): (.*)$/gm)].map(([, name = '', about = '']) => ({
      name,
      about,
    })),
  }));
}

export const pageNames = (): readonly string[] =>
  readSections().flatMap(({ entries }) => entries.map(({ name }) => name));

/** Returns the names of the pages whose line in the index contains this word, in singular or plural: `nginx`, `proxy`. */
export function pagesAbout(word: string): readonly string[] {
  const stem = word.toLowerCase().replace(/(?:ies|y|s)$/, '');
  if (stem.length < 3) return [];
  const entries = readSections().flatMap((section) => section.entries);
  return entries.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(stem)).map(({ name }) => name);
}

/** Returns a page with its first heading; null if there is none. @param name of its file, without `.md` */
export function readPage(name: string) {
  const path = join(FOLDER, `${name}.md`);
  if (!/^[a-z-]+$/.test(name) || !existsSync(path)) return null;
  const text = readFileSync(path, 'utf8').replace(/^<!--.*-->\n+/, '');
  return { name, title: /^# (.*)$/m.exec(text)?.[1] ?? name, text };
}

/** Returns the section of docs/rules.md about each rule, by id, without the heading. */
export function readRules(): ReadonlyMap<string, string> {
  const [, ...sections] = (readPage('rules')?.text ?? '').split(/^### /m);
  return new Map(
    sections.map((section) => {
      const [, id = '', text = ''] = /^`([a-z-]+)`\n+([\s\S]*)$/.exec(section) ?? [];
      return [id, text.replace(/\n## [^\n]*\n*$/, '\n').trimEnd()];
    }),
  );
}

/** @throws CliError when there is no such rule */
export function showRule(context: CliContext, name: string, json: boolean): void {
  const rules = readRules();
  const text = rules.get(name);
  if (text === undefined) {
    const [close] = suggest(name, [...rules.keys()]);
    const next = close === undefined ? 'list all rules: hookwright rule' : `did you mean: hookwright rule ${close}`;
    throw new CliError(`there is no rule "${name}"`, next);
  }
  if (json) printJson(context, { name, text });
  else printLine(context, `${name}\n\n${text}`);
}
