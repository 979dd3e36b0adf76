/** Prints one blueprint of the gallery: its card, and the dialog with its form and the results. */
import type { PublishedBlueprint } from '../../../schemas/generated/types.ts';
import { printControl } from './controls.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';

export function printCard(entry: PublishedBlueprint): Html {
  const { key, title, description, category, tags, scheduleHuman } = entry;
  const labels = tags.map((tag) => html`<li>${tag}</li>`);
  return html`<li class="card" data-key="${key}" data-category="${category}">
<h2 class="card-title">${title}</h2>
<p class="card-text">${description}</p>
<ul class="tags" aria-label="Tags">${labels}</ul>
<p class="when">${scheduleHuman}</p>
<button type="button" class="open" aria-haspopup="dialog" data-open="${key}" aria-label="Set up: ${title}">Set up</button>
</li>
`;
}

interface Output {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly extra?: Html;
}

function printOutput(key: string, { name, title, text, extra }: Output): Html {
  const id = `${key}-out-${name}`;
  return html`<section class="output" aria-labelledby="${id}-title">
<div class="output-head"><h3 class="made-title" id="${id}-title">${title}</h3><span class="actions">${extra ?? html``}<button type="button" class="copy" data-copy="${id}" aria-label="Copy: ${title}">Copy</button></span></div>
<pre tabindex="0" id="${id}" data-out="${name}" aria-labelledby="${id}-title"><code>${text}</code></pre>
</section>
`;
}

/** The three forms of one trigger. The link is form-encoded, so in a shell it only needs quotes around it. */
function printOutputs({ key, command, appUrl }: PublishedBlueprint): readonly Html[] {
  const open = html`<a class="launch" data-launch href="${appUrl}">Open</a>`;
  return [
    printOutput(key, { name: 'command', title: 'Chat command', text: command }),
    printOutput(key, { name: 'link', title: 'Application link', text: appUrl, extra: open }),
    printOutput(key, { name: 'shell', title: 'Terminal', text: `hookwright blueprint create '${appUrl}'` }),
  ];
}

export function printDialog(entry: PublishedBlueprint): Html {
  const { key, title, description, fields } = entry;
  return html`<dialog id="${key}" data-key="${key}" aria-labelledby="${key}-title" aria-describedby="${key}-about">
<header class="dialog-head"><div><h2 class="dialog-title" id="${key}-title" tabindex="-1">${title}</h2><p class="about" id="${key}-about">${description}</p></div>
<button type="button" class="close" aria-label="Close">✕</button></header>
<div class="columns">
<form class="choose" novalidate autocomplete="off">${fields.map((field) => printControl(key, field))}
<p class="buttons"><button type="reset">Back to the defaults</button></p></form>
<div class="made">
<p class="fault" role="alert" hidden></p>
<section class="runs" aria-labelledby="${key}-runs"><h3 class="made-title runs-title" id="${key}-runs">Next runs</h3><ol></ol><p class="zone"></p></section>
${printOutputs(entry)}</div>
</div>
</dialog>
`;
}
