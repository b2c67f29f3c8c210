import { effect } from '@preact/signals';
import { render } from 'preact';
import { loadSession, onSignInElsewhere, readAnnouncedUser } from '../session.js';
import base from '../style/base.css?inline';
import frame from '../style/frame.css?inline';
import pieces from '../style/pieces.css?inline';
import { sharedStorage } from '../ui/browser-storage.js';
import { PaletteButton } from '../ui/palette-button.js';
import { theme } from '../ui/preferences.js';
import palette from './palette.css?inline';

/*
 * Adds the command palette to the header of a tool that is not a page of the application: GraphiQL and the API reference.
 * A shadow tree keeps the styles of tool and palette apart.
 */
const host = document.getElementById('palette');
if (host === null) throw new Error('The page has no element with the id "palette".');
const root = host.attachShadow({ mode: 'open' });
// The policy of the page forbids style elements, but no constructed style sheets.
root.adoptedStyleSheets = [base, frame, pieces, palette].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
});
render(<PaletteButton onOpen={(href) => location.assign(href)} prepare={loadSession} />, root);

let shownUser = readAnnouncedUser() ?? '';

// The header, the responses and the entered tokens are those of the user who has signed out.
onSignInElsewhere((name) => {
  if (shownUser === '' && name !== '') shownUser = name;
  else if (name !== shownUser) location.reload();
});

/** The key under which GraphiQL stores the theme that was chosen in its own settings. */
const GRAPHIQL_THEME = 'graphiql:theme';

// Tools read the theme when they start.
let isFirst = true;
effect(() => {
  const chosen = theme.value;
  if (isFirst) {
    isFirst = false;
    return;
  }
  sharedStorage.setItem(document.documentElement.dataset.themeKey ?? '', chosen);
  sharedStorage.setItem(GRAPHIQL_THEME, chosen);
  location.reload();
});
