import { start } from './app.js';
import './style/tokens.css';
import './style/base.css';
import './style/forms.css';
import './style/frame.css';
import './style/lists.css';
import './style/pieces.css';

const place = document.getElementById('app');
if (place === null) throw new Error('Expected the page to have a place for the application.');
// Not awaited here: files of pages import this one, and wait until it has ended.
void start(place);
