/** The configurations that `init` starts from: the shipped examples. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../cli/base/package.ts';

const EXAMPLES = join(packageRoot(), 'examples');
const CONFIG = 'hookwright.yaml';

export interface Template {
  readonly name: string;
  /** The first sentence of its config. */
  readonly about: string;
  /** What else it needs: the `# needs:` lines of its config. */
  readonly needs: readonly string[];
  /** Texts by name, the config first. */
  readonly files: ReadonlyMap<string, string>;
}

/** Sorted by name; the one that needs nothing is first. */
export function readTemplates(): readonly Template[] {
  const names = readdirSync(EXAMPLES).filter((name) => readdirSync(join(EXAMPLES, name)).includes(CONFIG));
  return names.sort((a, b) => Number(b === FIRST) - Number(a === FIRST) || (a < b ? -1 : 1)).map(readTemplate);
}

/** No credentials, no agent. */
const FIRST = 'quickstart';

function readTemplate(name: string): Template {
  const folder = join(EXAMPLES, name);
  const config = readFileSync(join(folder, CONFIG), 'utf8');
  const others = readdirSync(folder).filter((file) => file !== CONFIG && /\.(?:test\.yaml|json)$/.test(file));
  const files = new Map([CONFIG, ...others].map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const needs = [...config.matchAll(/^ *# needs: (.+)$/gm)].map(([, text = '']) => text);
  return { name, about: /^# (.+?)(?:\.(?= |$)|$)/m.exec(config)?.[1] ?? name, needs, files };
}
