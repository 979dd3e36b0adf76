/** The command that installs an optional package where this program finds it. */
import { fileURLToPath } from 'node:url';

const IS_GLOBAL = fileURLToPath(import.meta.url).includes('/lib/node_modules/');

/** @param what name of a package, perhaps with its version */
export const npmInstall = (what: string): string => `npm install ${IS_GLOBAL ? '--global ' : ''}${what}`;
