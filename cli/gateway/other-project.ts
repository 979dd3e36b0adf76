/** Says whose gateway a command talks to where a home serves another configuration than the one in this folder. */

import { dirname } from 'node:path';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { CliContext } from '../base/context.ts';
import { printNote, visible } from '../output/print.ts';

/** @param served absolute path of the configuration in service; null: it serves compiled tables */
export function otherProject(context: CliContext, served: string | null): string | null {
  if (served === null || context.configs !== undefined) return null;
  const { root } = searchConfig(nodeFiles, context);
  if (root === null || nodeFiles.realpath(root) === nodeFiles.realpath(served)) return null;
  return root;
}

/** Prints it once for each command. */
export function noteOtherProject(context: CliContext, served: string | null): void {
  const here = otherProject(context, served);
  if (here === null) return;
  const note = `the gateway of ${context.home} serves ${served}, not ${here}: a home of its own, HOOKWRIGHT_HOME=<dir>, gives this one a gateway`;
  if (context.said.has(note)) return;
  context.said.add(note);
  printNote(context, visible(note));
}

export const NOT_OURS = 'the gateway does not serve the configuration of this folder, and was not stopped';

/** For a message about a gateway that is there: the configuration that it serves. */
export const servedLines = (config: string | null): readonly string[] =>
  config === null ? [] : [`it serves ${visible(config)}`];

/** The command that stops it: where it serves another project, only its own folder stops it. */
export function stopOf(context: CliContext, config: string | null): string {
  const stop = 'hookwright gateway stop';
  return config === null || otherProject(context, config) === null ? stop : `cd ${visible(dirname(config))} && ${stop}`;
}

export const OWN_HOME = 'or give this one a home of its own: HOOKWRIGHT_HOME=<dir>';
