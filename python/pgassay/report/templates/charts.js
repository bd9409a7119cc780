"use strict";
// Draws every chart from the data beside it; the arm buttons hide an arm in all of them.
(function () {
  const plots = Array.from(document.querySelectorAll(".plot[data-chart]"));
  const touch = matchMedia("(hover: none)").matches;
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: touch ? false : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d", "pan2d"],
  };
  const drawn = plots.map(function (plot) {
    const figure = JSON.parse(document.getElementById("data-" + plot.dataset.chart).textContent);
    // A finger that meets a chart means to scroll the page.
    figure.layout.dragmode = touch ? false : "zoom";
    return Plotly.newPlot(plot, figure.data, figure.layout, config).then(function () {
      plot.dataset.drawn = "yes";
    });
  });
  Promise.all(drawn).then(function () {
    document.documentElement.dataset.charts = "drawn";
  });

  document.querySelectorAll("button[data-arm]").forEach(function (button) {
    button.addEventListener("click", function () {
      const arm = button.dataset.arm;
      const show = button.getAttribute("aria-pressed") !== "true";
      document.querySelectorAll("button[data-arm]").forEach(function (other) {
        if (other.dataset.arm === arm) other.setAttribute("aria-pressed", String(show));
      });
      plots.forEach(function (plot) {
        const own = [];
        plot.data.forEach(function (trace, at) { if (trace.legendgroup === arm) own.push(at); });
        if (own.length) Plotly.restyle(plot, { visible: show }, own);
      });
    });
  });

  const paperWidth = 680;
  addEventListener("beforeprint", function () {
    plots.forEach(function (plot) { Plotly.relayout(plot, { width: paperWidth }); });
  });
  addEventListener("afterprint", function () {
    plots.forEach(function (plot) { Plotly.relayout(plot, { width: null, autosize: true }); });
  });
})();
