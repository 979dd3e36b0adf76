/** Builds HTML. Every text is escaped: only `Html` values become markup. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

type Part = string | number | Html | readonly Html[];

function print(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return part.map((one) => one.text).join('');
}

/** `html\`<p title="${text}">${text}</p>\``: safe in content and in quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    strings.map((text, index) => text + (index < parts.length ? print(parts[index] ?? '') : '')).join(''),
  );
}

/** JSON for a `<script type="application/json">`: no `<` that could end it. */
export function jsonBlock(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}
