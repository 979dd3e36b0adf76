/** Skips tests that need a program which is not installed everywhere. */

/**
 * For the `skip` of node:test: false, or a visible line; an error with CI=true, where everything must be installed.
 * @param packages the Debian packages that contain it
 */
export function skipWithout(found: boolean, what: string, packages: string): string | false {
  if (found) return false;
  const message = `NOT TESTED: ${what} is missing here (apt-get install ${packages})`;
  if (process.env.CI === 'true') throw new Error(message);
  console.error(message);
  return message;
}
