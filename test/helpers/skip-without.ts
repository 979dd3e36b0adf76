/** Tests that want a program which is not everywhere. */

/**
 * For the `skip` of node:test: false, or a loud line; an error under CI=true, where everything has to be there.
 * @param packages Debian's, that bring it
 */
export function skipWithout(found: boolean, what: string, packages: string): string | false {
  if (found) return false;
  const message = `NOT TESTED: ${what} is missing here (apt-get install ${packages})`;
  if (process.env.CI === 'true') throw new Error(message);
  console.error(message);
  return message;
}
