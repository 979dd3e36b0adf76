/** Compiles a converted config that is not written yet, as the command line would where it is going to be. */
import { join } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { overlayFiles } from '../../../compiler/source/overlay-files.ts';
import type { Tools } from '../compiler/conversion.ts';

export const CONFIG = 'hookwright.yaml';

export async function createCheck(context: CliContext, folder: string): Promise<Tools['check']> {
  const path = join(folder, CONFIG);
  const request = await createCompileRequest(context, { configs: [path] });
  return (config) => {
    const { diagnostics } = compileRequest(request, overlayFiles(nodeFiles, new Map([[path, config]])));
    const own = diagnostics.filter(({ source }) => source.path === path);
    return own.map(({ rule, severity, range, message }) => ({ rule, severity, start: range.start, message }));
  };
}
