/** Lowers a route's `script` to a path below `<profile home>/scripts/` and its interpreter (§2.6). */
import { extname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import type { ScriptPlan } from '../../schemas/generated/types.ts';

const SHELL_EXTENSIONS: ReadonlySet<string> = new Set(['.sh', '.bash']);

/**
 * Returns the path relative to the scripts folder, or null if it leads outside it. Symbolic links are not resolved.
 * @param folder absolute path of the scripts folder
 */
export function scriptPath(written: string, folder: string): string | null {
  const path = isAbsolute(written) ? relative(folder, written) : normalize(written);
  const leadsOut = path === '' || path === '.' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return leadsOut || path.includes('\0') ? null : path.split(sep).join('/');
}

export const scriptsFolder = (profileHome: string): string => join(profileHome, 'scripts');

export function lowerScript(path: string, timeoutSeconds: number): ScriptPlan {
  const interpreter = SHELL_EXTENSIONS.has(extname(path).toLowerCase()) ? 'bash' : 'python';
  return { path, interpreter, timeout_seconds: timeoutSeconds };
}
