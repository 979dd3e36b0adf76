/** Files of other programs: reported once, instead of each unknown key. */
import { isPlainMap } from '../../text/plain-map.ts';
import { valueAt } from '../pointer.ts';
import type { ShapeProblem } from '../shape-problem.ts';
import type { PlainMap, Written } from './written.ts';
import { isNamed, problemOf } from './written.ts';

interface ForeignFile {
  readonly name: string;
  readonly isOne: (data: PlainMap) => boolean;
  readonly hint?: string;
}

const FILES: readonly ForeignFile[] = [
  {
    name: 'a config of Hermes Agent',
    isOne: isHermes,
    hint: 'run `hookwright convert hermes` with the name of this file: it writes a config for hookwright and reports what has no equivalent',
  },
  {
    name: 'a Compose file',
    isOne: ({ services, platforms }) => platforms === undefined && hasMapWith(services, ''),
  },
  {
    name: 'a Kubernetes manifest',
    isOne: ({ apiVersion, kind }) => typeof apiVersion === 'string' && typeof kind === 'string',
  },
  {
    name: 'a workflow of GitHub Actions',
    isOne: ({ jobs, on, platforms }) => platforms === undefined && on !== undefined && hasMapWith(jobs, 'runs-on'),
  },
];

export function foreignFile(written: Written): ShapeProblem | null {
  const { schema, data } = written;
  if (schema !== 'config' || !isPlainMap(data)) return null;
  const file = FILES.find(({ isOne }) => isOne(data));
  const covers = Object.keys(data).map((key) => [key]);
  const [path] = covers;
  if (file === undefined || path === undefined) return null;
  return problemOf(written, `this is ${file.name}, and no configuration of hookwright`, {
    ...{ rule: 'unknown-key', path, at: 'key', covers },
    hint: file.hint ?? 'name the configuration: `--config hookwright.yaml`; `hookwright init` writes one',
  });
}

/** Top-level sections that hookwright does not have. */
const SECTIONS =
  'model fallback_model providers custom_providers toolsets terminal browser compression memory skills mcp_servers display tts stt delegation approvals webhooks';

function isHermes(data: PlainMap): boolean {
  const sections = Object.keys(data).filter((key) => isNamed(SECTIONS, key)).length;
  const hasExtra = isPlainMap(valueAt(data, ['platforms', 'webhook', 'extra']));
  const routes = [['extra', 'routes'], ['routes']].map((path) => valueAt(data, ['platforms', 'webhook', ...path]));
  const hasRoute = routes.some(
    (map) => hasMapWith(map, 'source_platform') || hasMapWith(map, 'retry_on_script_failure'),
  );
  const homes = Object.values(data.platforms ?? {}).map((target) => (isPlainMap(target) ? target.home_channel : null));
  return sections > 1 || (sections === 1 && hasExtra) || hasRoute || hasMapWith(homes, 'chat_id');
}

/** Whether one of the values is a map, with this key unless it is empty. */
const hasMapWith = (values: unknown, key: string): boolean =>
  Object.values(values ?? {}).some((value) => isPlainMap(value) && (key === '' || Object.hasOwn(value, key)));
