/** Reads the files of `in_file` lists as the gateway does. */
import type { GatewayFiles } from '../../../../runtime/platform/node-files.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';

export function listFiles({ stat, readText }: Pick<GatewayFiles, 'stat' | 'readText'>): ListFiles {
  return {
    stat: (path) => {
      const found = stat(path);
      if (found === undefined) throw new Error(`${path} is missing`);
      return found;
    },
    read: readText,
  };
}
