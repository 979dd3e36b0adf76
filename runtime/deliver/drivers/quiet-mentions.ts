/**
 * Keeps delivered Markdown from notifying people: `@name` and `@org/team` get an invisible character, for code hosts.
 *
 * Fenced code is left as it is: mentions do not work there, and decorators and package names must stay copyable.
 * Whatever makes it doubtful where code ends (HTML blocks) counts as no code.
 */

const MENTION = /(^|[^A-Za-z0-9`])@(?=[A-Za-z0-9])/gm;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const HTML_BLOCK = /^ {0,3}<[A-Za-z/!?]/m;

export function quietMentions(text: string): string {
  if (HTML_BLOCK.test(text)) return quiet(text);
  let fence = '';
  return text
    .split('\n')
    .map((line) => {
      const [, marks = '', rest = ''] = FENCE.exec(line.replace(/\r$/, '')) ?? [];
      if (fence === '') {
        // The info string of a backtick fence holds no backtick; otherwise it is inline code.
        if (marks !== '' && !(marks.startsWith('`') && rest.includes('`'))) fence = marks;
        return fence === '' ? quiet(line) : line;
      }
      if (marks.startsWith(fence) && rest.trim() === '') fence = '';
      return line;
    })
    .join('\n');
}

function quiet(text: string): string {
  return text.replace(MENTION, '$1@\u200B');
}
