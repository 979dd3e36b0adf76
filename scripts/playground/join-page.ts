/** Joins a page, its style and its script into one document that loads nothing. Its policy prevents any other script. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * @param folder of `page.html` and `page.css`
 * @param script minified
 * @param more further directives of the policy
 * @param before style that precedes the style of the page
 */
export function joinPage(folder: string, script: string, more = '', before = ''): string {
  // `</script` would end the element.
  const code = script.replaceAll('</script', '<\\/script');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const style = before + read('page.css');
  const policy = `default-src 'none'; script-src ${sha256(code)}; style-src ${sha256(style)}${more}`;
  return read('page.html')
    .replace('content=""', () => `content="${policy}"`)
    .replace('<style>', () => `<style>${style}`)
    .replace('<script type="module">', () => `<script type="module">${code}`);
}
