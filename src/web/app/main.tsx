import { startApp } from './app.js';
import './style/tokens.css';
import './style/base.css';
import './style/forms.css';
import './style/frame.css';
import './style/lists.css';
import './style/pieces.css';

const place = document.getElementById('app');
if (place === null) throw new Error('The document has no element with the id "app".');
// Not awaited: the bundles of pages import this module and wait until it has run.
void startApp(place);
