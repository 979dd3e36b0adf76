/** The documentation that comes with this program: Markdown pages by name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';

const FOLDER = join(packageRoot(), 'docs');

export interface DocsPage {
  /** The name of its file without `.md`. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

/** Sorted by name. */
export const pageNames = (): readonly string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort();

/** null: there is no such page. */
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
