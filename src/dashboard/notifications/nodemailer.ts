/** The mail client. The build puts its code here, so that production does not install its other forms. */
export { createTransport } from 'nodemailer';
