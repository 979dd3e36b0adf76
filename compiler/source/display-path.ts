/** How a path is shown to the user: relative to where he stands when that is shorter to read, else absolute. */
import { isAbsolute, relative, sep } from 'node:path';

/** @param from absolute directory; usually the working directory. */
export function displayPath(path: string, from: string): string {
  const short = relative(from, path);
  const outside = short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short);
  return (outside ? path : short).replaceAll(sep, '/');
}
