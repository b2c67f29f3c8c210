/** Instruments nothing. */
module.exports.default = () => ({ visitor: {} });
