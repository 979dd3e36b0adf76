/** Warns about programs of agents that are beside the configuration but looked for elsewhere. */
import { dirname, isAbsolute, join } from 'node:path';
import type { ProfileConfig } from '../../schemas/generated/types.ts';
import type { WrittenAgent } from '../config/agents.ts';
import { writtenAgents } from '../config/agents.ts';
import type { Places } from '../source/file-tree.ts';
import type { Files } from '../source/files.ts';
import type { Report } from '../source/report.ts';

/** @param home absolute path of the profile's home, below which a relative `cwd` is */
export function checkPrograms(
  config: ProfileConfig,
  home: string,
  { tree, files }: { readonly tree: Places; readonly files: Files },
  report: Report,
): void {
  const isFile = (path: string): boolean => files.stat(path)?.kind === 'file';
  for (const agent of writtenAgents(config)) checkProgram(agent, home, { tree, isFile }, report);
}

function checkProgram(
  { path: own, config: { command, cwd } }: WrittenAgent,
  home: string,
  { tree, isFile }: { readonly tree: Places; readonly isFile: (path: string) => boolean },
  report: Report,
): void {
  const working = cwd === undefined || isAbsolute(cwd) ? cwd : join(home, cwd);
  for (const [index, entry] of (command ?? []).entries()) {
    // Of `~/…` the user's home is unknown here.
    if (!isProgramFile(entry, index) || (index > 0 && cwd?.startsWith('~/'))) continue;
    // `locateProgram` of the runtime: below the home whatever the working folder, or on the PATH.
    const folder = index > 0 ? working : entry.includes('/') ? home : undefined;
    if (folder !== undefined && isFile(join(folder, entry))) continue;
    const path = [...own, 'command', index];
    const beside = dirname(tree.place(path).file.source.path);
    if (beside === folder || !isFile(join(beside, entry))) continue;
    const where =
      index > 0
        ? `but the command starts in ${folder === undefined ? 'a folder of its own' : `\`${folder}\``}`
        : `but looked for ${folder === undefined ? 'on the PATH' : `in \`${folder}\``}`;
    const message = `\`${entry}\` is beside the configuration, ${where}: it will not be found`;
    const hint = `write \`${join(beside, entry)}\`${index > 0 ? `, or \`cwd: ${beside}\`` : ''}`;
    report.addProblems([{ rule: 'program-place', path, at: 'value', message, hint }], tree);
  }
}

/** A relative path with a folder in the place of the program, or the name of a script anywhere. */
const isProgramFile = (entry: string, index: number): boolean =>
  !isAbsolute(entry) &&
  ((index === 0 && entry.includes('/')) ||
    /^[\w.][\w./-]*\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|mts|rb|pl|php|lua|jar|exe)$/.test(entry));
