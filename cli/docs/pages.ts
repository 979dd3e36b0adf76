/** The shipped documentation: Markdown pages, in the sections of `docs/README.md`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { packageRoot } from '../base/package.ts';
import { printJson, printLine } from '../output/print.ts';

const FOLDER = join(packageRoot(), 'docs');

export interface DocsPage {
  /** The name of its file without `.md`. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

export interface DocsSection {
  /** Its section: `Tutorial`, `Reference`, … */
  readonly title: string;
  readonly entries: readonly DocsEntry[];
}

export interface DocsEntry {
  readonly name: string;
  /** Its summary, in one line. */
  readonly about: string;
}

/** The sections of the index, and the pages that each lists. */
export function readSections(): readonly DocsSection[] {
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

/** Names of the pages whose line in the index has this word, in singular or plural: `nginx`, `proxy`. */
export function pagesAbout(word: string): readonly string[] {
  const stem = word.toLowerCase().replace(/(?:ies|y|s)$/, '');
  if (stem.length < 3) return [];
  const entries = readSections().flatMap((section) => section.entries);
  return entries.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(stem)).map(({ name }) => name);
}

/** Null if there is no such page. */
export function readPage(name: string): DocsPage | null {
  const path = join(FOLDER, `${name}.md`);
  if (!/^[a-z-]+$/.test(name) || !existsSync(path)) return null;
  const text = readFileSync(path, 'utf8').replace(/^<!--.*-->\n+/, '');
  return { name, title: /^# (.*)$/m.exec(text)?.[1] ?? name, text };
}

/** What docs/rules.md says about each rule, by id: Markdown below its heading. */
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
    const next = close === undefined ? 'hookwright rule lists them' : `did you mean: hookwright rule ${close}`;
    throw new CliError(`there is no rule "${name}"`, next);
  }
  if (json) printJson(context, { name, text });
  else printLine(context, `${name}\n\n${text}`);
}
