/** Defines the globals of Node.js that the page's code uses. */
export { Buffer } from 'buffer';
export const process = { env: {}, platform: 'linux', cwd: () => '/' };
