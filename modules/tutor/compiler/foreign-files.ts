/** Files of other programs: reported once, instead of each unknown key. */

import type { SchemaName } from '../../../compiler/schema/known-keys.ts';
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import { FOREIGN_FILES, HERMES_PATHS, HERMES_SECTIONS } from './built/names.ts';
import type { PlainMap, Slip } from './written.ts';
import { isNamed } from './written.ts';

/** A problem that covers the whole file; null if the data may be a configuration of hookwright. */
export function foreignFile(schema: SchemaName, data: unknown): Slip | null {
  if (schema !== 'config' || !isPlainMap(data)) return null;
  const [file] =
    Object.entries(FOREIGN_FILES).find(
      ([, has]) => data.platforms === undefined && has.every((path) => hasPath(data, path.split('.'))),
    ) ?? [];
  const [name, hint] = isHermes(data) ? ['a config of Hermes Agent', CONVERT] : [file, NAME_IT];
  if (name === undefined) return null;
  const message = `this is ${name}, and no configuration of hookwright`;
  return { rule: 'unknown-key', path: Object.keys(data).slice(0, 1), at: 'key', message, hint, covers: [[]] };
}

const NAME_IT = 'name the configuration: `--config hookwright.yaml`; `hookwright init` writes one';
const CONVERT =
  'run `hookwright convert hermes` with the name of this file: it writes a config for hookwright and reports what has no equivalent';

function isHermes(data: PlainMap): boolean {
  const sections = Object.keys(data).filter((key) => isNamed(HERMES_SECTIONS, key)).length;
  const isPart = hasPath(data, ['platforms', 'webhook', 'extra']) ? sections > 0 : sections > 1;
  return isPart || HERMES_PATHS.some((path) => hasPath(data, path.split('.')));
}

function hasPath(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined;
  if (!isPlainMap(value)) return false;
  return (key === '*' ? Object.values(value) : [value[key]]).some((each) => hasPath(each, rest));
}
