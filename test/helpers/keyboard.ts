/** Uses a page by keyboard alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** Most presses of Tab until an element has the focus. */
const MOST_TABS = 400;

export const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((each) => each === each.ownerDocument.activeElement);

/** Goes to an element by Tab. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    if (await hasFocus(element)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${element} cannot be reached by Tab`);
}
