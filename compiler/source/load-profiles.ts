/** Loads the configs of profiles other than `default`: `<home_dir>/profiles/<name>/config.yaml`, which is optional. */
import { join } from 'node:path';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { Places } from './file-tree.ts';
import { fileTree } from './file-tree.ts';
import type { Disk, HomeDisk } from './files.ts';
import type { ParsedFile } from './parse-yaml.ts';
import { readYamlFile } from './read-yaml-file.ts';

export interface LoadedProfile {
  readonly name: string;
  /** Relative to `<home_dir>`. */
  readonly home: string;
  /** Not validated yet; null if the file could not be read. */
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly tree: Places;
}

const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function loadProfiles({ home, ...disk }: HomeDisk): {
  readonly profiles: readonly LoadedProfile[];
  readonly findings: readonly Finding[];
} {
  const { files } = disk;
  const findings: Finding[] = [];
  const folder = join(home, 'profiles');
  const names = files.list(folder).filter((name) => name !== 'default' && PROFILE_NAME.test(name));
  const profiles = names
    .filter((name) => files.stat(join(folder, name))?.kind === 'directory')
    .toSorted()
    .map((name): LoadedProfile => {
      const loaded = loadProfileFile(disk, join(folder, name, 'config.yaml'));
      findings.push(...loaded.findings);
      return { name, home: `profiles/${name}`, value: loaded.value, tree: fileTree(loaded.file) };
    });
  return { profiles, findings };
}

interface ProfileFile {
  readonly file: ParsedFile;
  readonly value: LoadedProfile['value'];
  readonly findings: readonly Finding[];
}

function loadProfileFile(disk: Disk, path: string): ProfileFile {
  const { source, isMissing, file, findings } = readYamlFile(disk, path);
  const empty: ParsedFile = { source, value: {}, root: null, aliases: new Map() };
  if (isMissing) return { file: empty, value: {}, findings: [] };
  if (file === null) return { file: empty, value: null, findings };
  if (isPlainMap(file.value)) return { file, value: file.value, findings };
  const message = 'a config file is a map of settings';
  const finding: Finding = { rule: 'wrong-type', source, range: { start: 0, end: source.text.length }, message };
  return { file, value: null, findings: [...findings, finding] };
}
