/** Globals of Node.js, for the code of the page. */
export { Buffer } from 'buffer';
export const process = { env: {}, platform: 'linux', cwd: () => '/' };
