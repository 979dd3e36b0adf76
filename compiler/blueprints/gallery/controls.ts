/** Prints the form controls of a blueprint: one labelled control per field, preset to its default. */
import type { BlueprintField } from '../../../schemas/generated/types.ts';
import { Html, html } from './html.ts';

/** Up to this many short options are shown side by side; more become a menu. */
const MAX_SEGMENTS = 4;
const MAX_SEGMENT_LETTERS = 34;

/** The menu value that opens a text field for another name. No option can have an empty name. */
const OTHER = '';

const NOTHING = new Html('');

interface Control {
  readonly id: string;
  /** ` aria-describedby="…"`, or empty. */
  readonly described: Html;
  readonly field: BlueprintField;
}

function option(value: string, label: string, isChosen: boolean): Html {
  return html`<option value="${value}"${isChosen ? new Html(' selected') : NOTHING}>${label}</option>`;
}

function printSegments({ id, field, described }: Control): Html {
  const segments = field.options.map(
    (value, index) =>
      html`<label class="segment"><input type="radio" name="${field.name}" id="${id}-${index}" value="${value}"${
        value === field.default ? new Html(' checked') : NOTHING
      }><span>${value}</span></label>`,
  );
  return html`<fieldset class="field"${described}><legend>${field.label}</legend><div class="segments">${segments}</div>`;
}

function printMenu({ id, field, described }: Control): Html {
  const options = field.options.map((value) => option(value, value, value === field.default));
  const menu = (more: readonly Html[]): Html =>
    html`<select id="${id}" name="${field.name}"${described}>${[...options, ...more]}</select>`;
  const label = html`<div class="field"><label for="${id}">${field.label}</label>`;
  if (field.strict) return html`${label}${menu([])}`;
  return html`${label}${menu([option(OTHER, 'another platform…', false)])}<input type="text" id="${id}-other" name="${
    field.name
  }" aria-label="Name of the other platform" placeholder="name of the platform" autocomplete="off" spellcheck="false" hidden disabled>`;
}

function printTime({ id, field, described }: Control): Html {
  return html`<div class="field"><label for="${id}">${field.label}</label><input type="time" id="${id}" name="${field.name}" value="${field.default}" required${described}>`;
}

function printText({ id, field, described }: Control): Html {
  return html`<div class="field"><label for="${id}">${field.label}</label><textarea id="${id}" name="${field.name}" rows="3" required${described}>${field.default}</textarea>`;
}

function printChoice(control: Control): Html {
  const { options, strict } = control.field;
  const isShort = options.length <= MAX_SEGMENTS && options.join('').length <= MAX_SEGMENT_LETTERS;
  return strict && isShort ? printSegments(control) : printMenu(control);
}

const CONTROLS: Readonly<Record<BlueprintField['type'], (control: Control) => Html>> = {
  time: printTime,
  text: printText,
  enum: printChoice,
  weekdays: printChoice,
};

/** @param key the blueprint's key, which makes ids unique on the page */
export function printControl(key: string, field: BlueprintField): Html {
  const id = `${key}-${field.name}`;
  const described = field.help === '' ? NOTHING : html` aria-describedby="${id}-help"`;
  const help = field.help === '' ? NOTHING : html`<p class="help" id="${id}-help">${field.help}</p>`;
  const control = CONTROLS[field.type]({ id, field, described });
  const end = control.text.startsWith('<fieldset') ? html`</fieldset>` : html`</div>`;
  return html`${control}${help}${end}`;
}
