from comotion.report.paper_figures import bands_figure, overview_figure, single_ball_figure


def test_bands_of_two_systems_stand_side_by_side(planar):
    forecast, data = planar
    figure = bands_figure("balls", {"I-GPODE": forecast, "I-NODE": forecast}, data)
    assert len(figure.axes) == 2 * data.values.shape[2]
    titles = [axes.get_title(loc="left") for axes in figure.axes[:2]]
    assert titles == ["I-GPODE", "I-NODE"]


def test_one_ball_has_a_panel_for_the_truth_and_one_for_each_system(planar):
    forecast, data = planar
    figure = single_ball_figure({"I-GPODE": forecast}, data)
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["truth", "I-GPODE"]
    assert len(figure.axes) == 2 * 3


def test_the_overview_goes_from_frames_to_forecast(planar, fields):
    forecast, data = planar
    figure = overview_figure(forecast, fields, data)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "5 frames, and where they may have begun"
    assert "drawn f_b" in titles[4]
    assert all(axes.has_data() for axes in figure.axes)
