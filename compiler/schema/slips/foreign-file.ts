/** A file of another program: reported once, instead of each unknown key. */
import { isPlainMap } from '../../text/plain-map.ts';
import type { Slip } from './slip.ts';

interface ForeignFile {
  readonly name: string;
  readonly isOne: (data: Readonly<Record<string, unknown>>) => boolean;
}

const FILES: readonly ForeignFile[] = [
  {
    name: 'a Compose file',
    isOne: ({ services, platforms }) =>
      platforms === undefined && isPlainMap(services) && Object.values(services).some(isPlainMap),
  },
  {
    name: 'a Kubernetes manifest',
    isOne: ({ apiVersion, kind }) => typeof apiVersion === 'string' && typeof kind === 'string',
  },
  {
    name: 'a workflow of GitHub Actions',
    isOne: ({ jobs, on, platforms }) =>
      platforms === undefined &&
      on !== undefined &&
      isPlainMap(jobs) &&
      Object.values(jobs).some((job) => isPlainMap(job) && Object.hasOwn(job, 'runs-on')),
  },
];

export const foreignFile: Slip = ({ schema, data }) => {
  if (schema !== 'config' || !isPlainMap(data)) return null;
  const file = FILES.find(({ isOne }) => isOne(data));
  const [first] = Object.keys(data);
  if (file === undefined || first === undefined) return null;
  return {
    rule: 'unknown-key',
    path: [first],
    at: 'key',
    message: `this is ${file.name}, and no configuration of hookwright`,
    hint: 'name the configuration: `--config hookwright.yaml`; `hookwright init` writes one',
    covers: Object.keys(data).map((key) => [key]),
  };
};
