/**
 * Reads the YAML file of a rule, `compiler/rules/<id>.yaml` there or in a module. The rule comes first, then its
 * examples: a config that breaks it and one that does not, and further files if the rule is about them. Each begins
 * with `--- # <name>`: `bad`, `good` (`bad, mode 600`: permission bits), or the path of a further file of the example
 * above it. Below a line of the bad example, a comment with carets marks the range of a diagnostic; a caret directly
 * after its `#` marks the first column.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Example {
  /** A whole `hookwright.yaml`. */
  readonly config: string;
  /** Further files by path, relative to the config; `~/.hookwright/…` is the home. */
  readonly files: Readonly<Record<string, string>>;
  /** Permission bits of the config file. */
  readonly mode: number;
  /** In the order of the files and of their lines. */
  readonly marks: readonly Mark[];
}

/** The range that a row of carets marks. Line and column count from 1. */
export interface Mark {
  /** `hookwright.yaml`, or the path of a further file. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

export const ROOT_FILE = 'hookwright.yaml';

const ROOT = new URL('../../', import.meta.url);

/** The folders of rules, from the root of the repository. */
export const RULE_FOLDERS: readonly string[] = [
  'compiler/rules/',
  ...readdirSync(new URL('modules/', ROOT)).map((module) => `modules/${module}/compiler/rules/`),
].filter((folder) => existsSync(new URL(folder, ROOT)));

/** The text of a rule's YAML file. */
export function readRule(rule: string): string {
  const folder = RULE_FOLDERS.find((each) => existsSync(new URL(`${each}${rule}.yaml`, ROOT)));
  return readFileSync(new URL(`${folder}${rule}.yaml`, ROOT), 'utf8');
}

export function readExamples(rule: string): Readonly<Record<'bad' | 'good', Example>> {
  const text = readRule(rule);
  const parts = text.split(/^--- # (.+)\n/m).slice(1);
  const sections = parts.flatMap((name, at) => (at % 2 === 0 ? [{ name, text: parts[at + 1] ?? '' }] : []));
  const good = sections.findIndex(({ name }) => name.startsWith('good'));
  if (!sections[0]?.name.startsWith('bad') || good === -1) throw new Error(`${rule}.yaml: no bad and good example`);
  return { bad: toExample(sections.slice(0, good)), good: toExample(sections.slice(good)) };
}

interface Section {
  readonly name: string;
  readonly text: string;
}

function toExample([root, ...others]: readonly Section[]): Example {
  const mode = /, mode (\d+)$/.exec(root?.name ?? '')?.[1] ?? '644';
  const config = readMarks({ name: ROOT_FILE, text: root?.text ?? '' });
  const files = others.map(readMarks);
  return {
    config: config.text,
    files: Object.fromEntries(files.map(({ name, text }) => [name, text])),
    mode: Number.parseInt(mode, 8),
    marks: [config, ...files].flatMap(({ marks }) => marks),
  };
}

/** The text without the rows of carets, which would shift what follows. */
function readMarks({ name, text }: Section): Section & Pick<Example, 'marks'> {
  const lines: string[] = [];
  const marks: Mark[] = [];
  for (const line of text.split('\n')) {
    if (/^# *\^[ ^]*$/.test(line)) marks.push(...caretsOf(line, name, lines.length));
    else lines.push(line);
  }
  return { name, text: lines.join('\n'), marks };
}

const caretsOf = (row: string, file: string, line: number): readonly Mark[] =>
  [...row.matchAll(/\^+/g)].map(({ 0: carets, index }) => ({
    file,
    line,
    column: index === 1 ? 1 : index + 1,
    length: carets.length,
  }));
