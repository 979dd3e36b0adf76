/** Formats a path for display: relative to the working directory if that is shorter, else absolute. */
import { isAbsolute, relative, sep } from 'node:path';

/** @param from absolute path of a directory, usually the working directory */
export function displayPath(path: string, from: string): string {
  const short = relative(from, path);
  const outside = short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short);
  return (outside ? path : short).replaceAll(sep, '/');
}
