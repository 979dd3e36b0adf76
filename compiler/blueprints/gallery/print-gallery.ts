/** The gallery: the published catalog as one self-contained HTML page that works from a file, without a network. */
import { createHash } from 'node:crypto';
import type { BlueprintPlan, Catalog } from '../../../schemas/generated/types.ts';
import { CRON_OPTIONS } from '../../schedule/parse-schedule.ts';
import { BARE } from '../command.ts';
import { DAYS_OF_WEEK, dayField, timeField } from '../fields.ts';
import { printCard, printDialog } from './entry.ts';
import { Html, html, jsonBlock } from './html.ts';

/** Files that are embedded in the page. */
export interface GalleryAssets {
  readonly style: string;
  readonly script: string;
  /** croner's browser build, which defines `Cron`. */
  readonly cron: string;
  readonly cronLicence: string;
}

const CATEGORIES: Readonly<Record<BlueprintPlan['category'], string>> = {
  daily: 'Daily',
  email: 'Email',
  weekly: 'Weekly',
  general: 'General',
};

/** The data that the page's script needs to fill schedules and to print commands like `printCommand`. */
function pageData(catalog: Catalog, appScheme: string): unknown {
  const blueprints = catalog.map(({ key, fields, schedule }) => ({
    key,
    schedule,
    fields: fields.map(({ name, type, label }) => ({ name, type, label })),
    time: timeField(fields)?.name ?? null,
    day: dayField(fields)?.name ?? null,
  }));
  return { appScheme, days: DAYS_OF_WEEK, cron: CRON_OPTIONS, bare: BARE.source, blueprints };
}

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows only the page's two scripts and its style; the page can neither load nor send anything. */
function contentPolicy(scripts: readonly string[], style: string): string {
  return `default-src 'none'; script-src ${scripts.map(sha256).join(' ')}; style-src ${sha256(style)}; base-uri 'none'; form-action 'none'`;
}

function printToolbar(catalog: Catalog): Html {
  const used = Object.entries(CATEGORIES).filter(([name]) => catalog.some((entry) => entry.category === name));
  const choices = [['', 'All'], ...used].map(
    ([value = '', label = '']) =>
      html`<label class="segment" data-category="${value}"><input type="radio" name="category" value="${value}"${
        value === '' ? new Html(' checked') : html``
      }><span>${label}</span></label>`,
  );
  return html`<form class="toolbar" role="search" aria-label="Blueprints">
<label class="search"><span class="hidden">Search blueprints</span><input type="search" id="search" placeholder="Search" autocomplete="off"></label>
<fieldset><legend class="hidden">Category</legend><div class="segments">${choices}</div></fieldset>
</form>`;
}

/** Includes the notice that the licence requires. Browsers normalise line ends to `\n` before they hash a script. */
function printLibrary({ cron, cronLicence }: GalleryAssets): string {
  const notice = cronLicence.trim().replaceAll('*/', '* /');
  return `/*\ncroner, https://croner.56k.guru\n\n${notice}\n*/\n${cron.trim()}`.replaceAll('\r\n', '\n');
}

/** Sorts entries by category, in the order of the toolbar. */
function byCategory(catalog: Catalog): Catalog {
  return Object.keys(CATEGORIES).flatMap((name) => catalog.filter((entry) => entry.category === name));
}

/** Prints the page. The same catalog and assets give the same bytes. */
export function printGallery(catalog: Catalog, appScheme: string, assets: GalleryAssets): string {
  const { style, script } = assets;
  const cron = printLibrary(assets);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy([cron, script], style)}">
<title>Blueprints</title>
<style>${new Html(style)}</style>
</head>
<body>
<header class="top">
<div class="title"><h1>Blueprints</h1><button type="button" id="theme" hidden>Theme: auto</button></div>
<p class="lead">Recurring tasks, ready to be made your own. Choose one, set its details, and copy the result.</p>
${printToolbar(catalog)}
</header>
<main>
<p id="count" class="hidden" role="status"></p>
<ul class="cards" aria-label="Blueprints">
${byCategory(catalog).map(printCard)}</ul>
<p id="none" hidden>No blueprint matches.</p>
</main>
${catalog.map(printDialog)}<p id="said" class="hidden" role="status"></p>
<script type="application/json" id="data">${jsonBlock(pageData(catalog, appScheme))}</script>
<script>${new Html(cron)}</script>
<script>${new Html(script)}</script>
</body>
</html>
`;
  return page.text;
}
